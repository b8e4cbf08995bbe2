# Read by all scripts of /usr/share/saucr-zookeeper/bin. The unit for systemd says the same of the log.
# shellcheck shell=sh disable=SC2034 # the scripts that read it use it
ZOO_LOG_DIR="${ZOO_LOG_DIR:-/var/log/saucr-zookeeper}"
