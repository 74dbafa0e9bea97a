Search.setIndex({"docnames": ["guide", "hidden", "parts", "posts/madder"], "terms": {"loom": [0, 2], "warp": [0, 3], "wool": 3}, "titles": ["Guide", "Hidden", "Parts", "Madder"]})
