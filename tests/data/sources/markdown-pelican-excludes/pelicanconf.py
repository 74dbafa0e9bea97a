ARTICLE_EXCLUDES = ['private']
