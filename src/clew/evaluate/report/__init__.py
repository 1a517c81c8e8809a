"""Reports: one self-contained HTML page, with CSV of its plots and tables beside it."""
