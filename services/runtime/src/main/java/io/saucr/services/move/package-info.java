/** Moves a service that is stopped from one protection to another. */
package io.saucr.services.move;
