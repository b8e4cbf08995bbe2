/** {@code Protection.local()}: turns are final once they are on the service's own disk (Ken). */
package io.saucr.services.local;
