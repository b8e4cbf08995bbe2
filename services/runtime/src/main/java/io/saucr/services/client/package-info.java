/** Clients of services: with a generation of their own, or without. */
package io.saucr.services.client;
