/** Members of a group as processes, which are killed. */
package io.saucr.services.tests.group;
