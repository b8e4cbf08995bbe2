package io.saucr.services.core;

/**
 * A message as it travels and as it is recorded. Immutable by agreement: nobody changes the bytes.
 *
 * @param type the name of its type
 * @param bytes its content, which the core never reads
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; a copy per message would cost more.
public record Body(String type, byte[] bytes) {

    @Override
    public String toString() {
        return type + " (" + bytes.length + " bytes)";
    }
}
