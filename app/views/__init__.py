"""HTTP: thin views that parse, call and render; no search logic lives here."""
