# A node: a machine that a test may break. Root logs in with the control node's key.
FROM debian:12
RUN apt-get -q update \
 && apt-get -q install -y --no-install-recommends openssh-server sudo openjdk-17-jre-headless iptables iproute2 iputils-ping \
    procps psmisc ca-certificates wget git gcc g++ make cmake libc6-dev libfuse3-dev fuse3 \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /run/sshd /root/.ssh
CMD ["sh", "-c", "cp /keys/id_ed25519.pub /root/.ssh/authorized_keys && chmod 600 /root/.ssh/authorized_keys && exec /usr/sbin/sshd -D"]
