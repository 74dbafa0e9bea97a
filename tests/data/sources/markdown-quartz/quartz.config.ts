const config = {
  configuration: {
    pageTitle: "Garden",
    baseUrl: "garden.example.org",
    locale: "de-DE",
    ignorePatterns: ["private", "templates", "**/secret.md"],
  },
}
