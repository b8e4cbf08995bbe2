/**
 * Decisions of a service with standbys: who holds it, what is final, who takes over (C1 to C17).
 */
package io.saucr.services.core.standby;
