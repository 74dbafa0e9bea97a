const config = {
  plugins: { filters: [Plugin.ExplicitPublish()] },
}
