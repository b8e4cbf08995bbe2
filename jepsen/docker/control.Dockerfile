# The control node: Leiningen, and a key with which root logs in to the nodes.
FROM clojure:temurin-21-lein
RUN apt-get -q update \
 && apt-get -q install -y --no-install-recommends openssh-client gnuplot graphviz maven \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /saucr/jepsen
CMD ["sh", "-c", "[ -f /keys/id_ed25519 ] || ssh-keygen -q -t ed25519 -N '' -f /keys/id_ed25519; exec sleep infinity"]
