/** What a service has in the ensemble: its head, which fences, and its address. */
package io.saucr.services.ensemble;
