Search.setIndex({"docnames": ["guide", "hidden", "posts/madder"], "terms": {"loom": 0, "warp": [0, 2], "wool": 2}, "titles": ["Guide", "Hidden", "Madder"]})
