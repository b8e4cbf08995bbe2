/** The door of a service for clients that speak HTTP and JSON. */
package io.saucr.services.http;
