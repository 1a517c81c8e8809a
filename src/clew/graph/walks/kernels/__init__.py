"""The compiled parts of walks: choosing edges, drawing, finding what an edit changes, adding up vectors."""
