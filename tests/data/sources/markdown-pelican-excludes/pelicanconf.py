ARTICLE_EXCLUDES = ["private"]
