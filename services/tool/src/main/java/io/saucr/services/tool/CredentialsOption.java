package io.saucr.services.tool;

import io.saucr.services.Credentials;
import io.saucr.services.Services;
import io.saucr.services.turns.Place;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Who the command is, for the ensemble. One thread. */
final class CredentialsOption {

    @Option(
            names = "--credentials",
            paramLabel = "SCHEME:SECRET",
            description = "For the ensemble, as in digest:user:password.")
    private String credentials;

    /**
     * The service at a place.
     *
     * @throws IllegalArgumentException where place or credentials are none; says what is allowed
     */
    Services at(String ensemble) {
        return credentials == null ? Services.at(ensemble) : Services.at(ensemble, parsed());
    }

    /**
     * The place of that path.
     *
     * @throws IllegalArgumentException where place or credentials are none; says what is allowed
     */
    Place place(String ensemble) {
        return Place.at(ensemble, credentials == null ? Optional.empty() : Optional.of(parsed()));
    }

    private Credentials parsed() {
        int colon = credentials.indexOf(':');
        if (colon < 1) {
            throw new IllegalArgumentException(
                    "credentials are a scheme and a secret, as in digest:user:password, not \""
                            + credentials
                            + "\"");
        }
        return new Credentials(credentials.substring(0, colon), credentials.substring(colon + 1));
    }
}
