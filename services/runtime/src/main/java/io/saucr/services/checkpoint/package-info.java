/**
 * What a service with standbys keeps outside of its memory: segments of what its turns changed,
 * chained by digest (C2, C4), bases below them, and the stores that hold both (C14).
 */
package io.saucr.services.checkpoint;
