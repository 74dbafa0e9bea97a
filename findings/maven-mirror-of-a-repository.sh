#!/usr/bin/env bash
# One would guess: `help:evaluate -Dexpression=project.repositories` names the address that artifacts come from.
# What happens: it names the address of the POM, also where settings.xml has a mirror for it: the mirror is in
# project.remoteArtifactRepositories only, and asking for that whole list ends with "No converter available" on Java 17.
# One of its addresses, by its number, is printed.
# Version: maven-help-plugin 3.5.1, Maven 3.8. Source: the plugin itself.
set -euo pipefail
cd "$(mktemp -d)"
ask() {
  mvn --batch-mode --quiet "$@" org.apache.maven.plugins:maven-help-plugin:3.5.1:evaluate -DforceStdout 2>&1
}
mvn -v | head -1
origin="$(ask '-Dexpression=project.remoteArtifactRepositories[0].url' | grep -o 'https\?://[^[:space:][:cntrl:]]*' | head -1)"
# A mirror that is another spelling of the same address.
cat > settings.xml <<XML
<settings><mirrors><mirror><id>near</id><mirrorOf>*</mirrorOf><url>$origin/.</url></mirror></mirrors></settings>
XML
stated="$(ask -s settings.xml -Dexpression=project.repositories | grep -o '<url>[^<]*' | head -1)"
used="$(ask -s settings.xml '-Dexpression=project.remoteArtifactRepositories[0].url')"
[[ "$stated" == "<url>$origin" ]] && echo "project.repositories: the address of the POM"
[[ "$used" == *"$origin/."* ]] && echo "project.remoteArtifactRepositories[0].url: the mirror"
if ask -s settings.xml -Dexpression=project.remoteArtifactRepositories > whole.txt; then
  echo "changed: the whole list is printed now"
  exit 1
fi
grep -o "No converter available" whole.txt | head -1
