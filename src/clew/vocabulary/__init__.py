"""What a team calls things: labels, words and units of types and relations, and terms with their meaning."""
