package io.saucr.services.journal;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;

/**
 * The folder in which a service, or a once client, keeps what must survive: `identity`, `journal`
 * and `base`. One process holds it at a time. Each opening is a new incarnation, whose number and
 * nonce are forced in the folder before the folder is returned, so that nothing that another
 * process sees of this start was ever unknown to the folder (K14).
 */
@SuppressWarnings("DoNotCallSuggester") // Until it is written.
public final class ServiceFolder implements AutoCloseable {

    private ServiceFolder() {}

    /**
     * Opens a folder, or makes it where there is none, and begins an incarnation.
     *
     * @param path of the folder; its parent is made where missing
     * @param name of the service or client, 1 to 255 characters; that with which it was made
     * @param random for its birth and this start's nonce
     * @throws RefusedFolderException where another process holds it, or it is another's, damaged,
     *     of a newer format or incomplete
     * @throws IOException where the disk fails
     */
    public static ServiceFolder open(Path path, String name, SecureRandom random)
            throws IOException {
        throw new UnsupportedOperationException();
    }

    public Path path() {
        throw new UnsupportedOperationException();
    }

    public String name() {
        throw new UnsupportedOperationException();
    }

    public Birth birth() {
        throw new UnsupportedOperationException();
    }

    /** This start. */
    public Incarnation incarnation() {
        throw new UnsupportedOperationException();
    }

    /**
     * The starts of this folder, this one at the end, in the order of their numbers. The oldest are
     * forgotten after 4096, but none from the confirmed one on that a head may still name.
     */
    public List<Incarnation> incarnations() {
        throw new UnsupportedOperationException();
    }

    /** The highest start that is known to have held the head, as of opening; 0 for none. */
    public long confirmed() {
        throw new UnsupportedOperationException();
    }

    /**
     * Notes that this start holds the head; returns when that is forced. Nothing may leave before
     * (K14).
     *
     * @throws IOException where the disk fails: the process has to halt
     */
    public void confirm() throws IOException {
        throw new UnsupportedOperationException();
    }

    /**
     * Reads what survived, cuts what was torn and writes again what may not be on disk (K9). Once.
     *
     * @throws RefusedFolderException where something is damaged that was on disk, or is missing
     * @throws IOException where the disk fails
     */
    public Recovered recover(JournalOptions options) throws IOException {
        throw new UnsupportedOperationException();
    }

    /** Lets other processes open the folder. Close the journal first. */
    @Override
    public void close() throws IOException {
        throw new UnsupportedOperationException();
    }
}
