package io.saucr.services.examples.auction;

import io.saucr.services.core.Body;
import io.saucr.services.state.Codec;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;

/** Sends messages to a {@link PlainService}, again and again until there is an answer. */
final class PlainPost implements Market.Post {

    private static final HttpClient CLIENT =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(2))
                    .build();

    private final int port;
    private final ExecutorService threads;
    private final Codec codec = new Codec();

    PlainPost(int port, ExecutorService threads) {
        this.port = port;
        this.threads = threads;
    }

    @Override
    public CompletableFuture<?> send(Object message) {
        return CompletableFuture.runAsync(() -> post(message), threads);
    }

    <A> A ask(Object question, Class<A> answer) {
        return codec.decode(answer, post(question));
    }

    private byte[] post(Object message) {
        while (true) {
            Optional<byte[]> answer =
                    post(
                            port,
                            new Body(codec.name(message.getClass()), codec.encode(message)),
                            "client");
            if (answer.isPresent()) {
                return answer.get();
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** One attempt; empty where there is no answer. */
    static Optional<byte[]> post(int port, Body message, String from) {
        HttpRequest request =
                HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:" + port + "/" + message.type()))
                        .header("From", from)
                        .timeout(Duration.ofSeconds(5))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(message.bytes()))
                        .build();
        try {
            HttpResponse<byte[]> response =
                    CLIENT.send(request, HttpResponse.BodyHandlers.ofByteArray());
            return response.statusCode() == 200 ? Optional.of(response.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
