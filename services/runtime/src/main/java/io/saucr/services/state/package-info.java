/**
 * What services remember, and how values become bytes. {@link io.saucr.services.state.StateStore}
 * keeps the collections of a service; {@link io.saucr.services.state.Changes} is what a turn
 * changed in them; {@link io.saucr.services.state.StateSnapshot} is written while turns continue;
 * {@link io.saucr.services.state.Codec} checks types and turns values, keys and messages into CBOR.
 */
package io.saucr.services.state;
