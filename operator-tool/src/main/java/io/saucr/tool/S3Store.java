package io.saucr.tool;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * An archive in a bucket of S3, or of a server that speaks its protocol. Region, credentials and
 * another server's address come from where the tools of AWS have them: {@code AWS_REGION}, {@code
 * AWS_PROFILE}, {@code AWS_ENDPOINT_URL} and so on. An object is there whole or not at all.
 */
final class S3Store implements ArchiveStore {
    static final String SCHEME = "s3://";

    private final String place;
    private final String bucket;
    private final String prefix;
    private final S3Client client;

    /**
     * @param place {@code s3://BUCKET} or {@code s3://BUCKET/FOLDER}
     * @throws IOException if it is no such place, or region or credentials are missing
     */
    S3Store(String place) throws IOException {
        this.place = place;
        try {
            URI uri = new URI(place);
            if (uri.getAuthority() == null) {
                throw new URISyntaxException(place, "there is no bucket");
            }
            String path = uri.getPath().replaceFirst("^/+", "").replaceFirst("/+$", "");
            bucket = uri.getAuthority();
            prefix = path.isEmpty() ? "" : path + "/";
            client =
                    S3Client.builder()
                            .httpClientBuilder(UrlConnectionHttpClient.builder())
                            // Other servers have no name for each bucket.
                            .forcePathStyle(
                                    System.getenv("AWS_ENDPOINT_URL") != null
                                            || System.getenv("AWS_ENDPOINT_URL_S3") != null)
                            .build();
        } catch (URISyntaxException e) {
            throw new UnusableFileException(
                    "'" + place + "' is no place in S3: give s3://BUCKET/FOLDER");
        } catch (SdkException e) {
            throw failure(e);
        }
    }

    private static IOException failure(SdkException cause) {
        return new IOException(cause.getMessage(), cause);
    }

    @Override
    public String place() {
        return place;
    }

    @Override
    public List<String> names() throws IOException {
        List<String> names = new ArrayList<>();
        try {
            for (S3Object each :
                    client.listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))
                            .contents()) {
                names.add(each.key().substring(prefix.length()));
            }
        } catch (SdkException e) {
            throw failure(e);
        }
        return names;
    }

    @Override
    public InputStream open(String name) throws IOException {
        try {
            return new Body(client.getObject(request -> request.bucket(bucket).key(prefix + name)));
        } catch (SdkException e) {
            throw failure(e);
        }
    }

    /** Its errors are those of a stream. */
    private static final class Body extends FilterInputStream {
        Body(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            try {
                return super.read();
            } catch (SdkException e) {
                throw failure(e);
            }
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            try {
                return super.read(into, offset, length);
            } catch (SdkException e) {
                throw failure(e);
            }
        }
    }

    @Override
    public void put(String name, Path file) throws IOException {
        try {
            client.putObject(
                    request -> request.bucket(bucket).key(prefix + name),
                    RequestBody.fromFile(file));
        } catch (SdkException e) {
            throw failure(e);
        }
    }

    @Override
    public void delete(String name) throws IOException {
        try {
            client.deleteObject(request -> request.bucket(bucket).key(prefix + name));
        } catch (SdkException e) {
            throw failure(e);
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
