Search.setIndex({"docnames": ["guide", "parts"], "terms": {"loom": [0, 1], "warp": 0}, "titles": ["Guide", "Parts"]})
