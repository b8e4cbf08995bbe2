/** What people see of a service: a page on this machine, and JSON for their tools. */
package io.saucr.services.status;
