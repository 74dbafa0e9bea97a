const site = lume({ location: new URL("https://blog.example.org") })
  .ignore("internal")
  .ignore("TODO.md");
