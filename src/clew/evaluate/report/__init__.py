"""Reports: one self-contained HTML page, with PNG and CSV of its plots and tables beside it."""
