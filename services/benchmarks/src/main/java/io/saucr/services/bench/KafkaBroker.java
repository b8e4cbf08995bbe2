package io.saucr.services.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A lone Kafka broker, its own controller, as a process on ports of loopback. As it has no
 * replicas, it forces each append; its default leaves that to replicas.
 */
final class KafkaBroker implements AutoCloseable {

    private final Process process;
    private final Path said;
    private final String address;

    /**
     * Starts it; clients may have to wait until it serves.
     *
     * @param folder empty, for its logs
     * @throws IOException where its folder can't be made; the message has what it said
     */
    KafkaBroker(Path folder) throws IOException, InterruptedException {
        List<Integer> free = TableCluster.freePorts(2);
        int port = free.get(0);
        int controller = free.get(1);
        address = "127.0.0.1:" + port;
        said = folder.resolve("kafka.log");
        String configuration = folder.resolve("kafka.properties").toString();
        Files.writeString(
                Path.of(configuration),
                """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%d
                controller.listener.names=CONTROLLER
                listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%1$d
                listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
                log.dirs=%s
                offsets.topic.replication.factor=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                share.coordinator.state.topic.replication.factor=1
                share.coordinator.state.topic.min.isr=1
                group.initial.rebalance.delay.ms=0
                auto.create.topics.enable=false
                log.flush.interval.messages=1
                """
                        .formatted(controller, port, folder.resolve("kafka")));
        Process format =
                java(
                        "kafka.tools.StorageTool",
                        "format",
                        "--config",
                        configuration,
                        "--cluster-id",
                        "c2F1Y3JiZW5jaG1hcmtzMA");
        if (format.waitFor() != 0) {
            throw new IOException(
                    "the folder of the Kafka broker could not be made:\n" + Files.readString(said));
        }
        process = java("kafka.Kafka", configuration);
    }

    private Process java(String program, String... arguments) throws IOException {
        List<String> command =
                TalkingProcess.command(List.of("-Xms256m", "-Xmx512m"), program, arguments);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(said.toFile()))
                .start();
    }

    String address() {
        return address;
    }

    /** What it and the program that made its folder wrote. */
    String said() throws IOException {
        return Files.readString(said);
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
