/**
 * A service with standbys: a turn is final once the head names a segment that holds it. See {@link
 * io.saucr.services.Protection#standby}.
 */
package io.saucr.services.standby;
