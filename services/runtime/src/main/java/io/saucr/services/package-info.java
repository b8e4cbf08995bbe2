/**
 * What a user of the library needs: a {@link io.saucr.services.Service} is state and {@link
 * io.saucr.services.Handlers}; a {@link io.saucr.services.Turn} takes one message and changes the
 * state, sends and sets timers as a unit; {@link io.saucr.services.Services} runs it under a {@link
 * io.saucr.services.Protection}.
 */
package io.saucr.services;
