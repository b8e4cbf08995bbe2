package io.saucr.server.admin;

import io.saucr.server.http.Exchange;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.servlet.http.HttpServletRequest;

/**
 * A request in the form in which ZooKeeper's commands and providers of authentication want it. What
 * those of a servlet container alone need is missing.
 */
final class ServletRequest implements InvocationHandler {
    private final Exchange exchange;

    private ServletRequest(Exchange exchange) {
        this.exchange = exchange;
    }

    static HttpServletRequest of(Exchange exchange) {
        return (HttpServletRequest)
                Proxy.newProxyInstance(
                        HttpServletRequest.class.getClassLoader(),
                        new Class<?>[] {HttpServletRequest.class},
                        new ServletRequest(exchange));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        String name = arguments == null ? null : String.valueOf(arguments[0]);
        return switch (method.getName()) {
            case "getRemoteAddr", "getRemoteHost" ->
                    exchange.remote().getAddress().getHostAddress();
            case "getRemotePort" -> exchange.remote().getPort();
            case "getMethod" -> exchange.method();
            case "getRequestURI", "getPathInfo" -> exchange.path();
            case "getContextPath", "getServletPath" -> "";
            case "getQueryString" -> exchange.query().isEmpty() ? null : exchange.query();
            case "isSecure" -> exchange.isSecure();
            case "getScheme" -> exchange.isSecure() ? "https" : "http";
            case "getHeader" -> exchange.header(name);
            case "getHeaders" -> Collections.enumeration(exchange.headers(name));
            case "getParameter" -> parameters().getOrDefault(name, new String[] {null})[0];
            case "getParameterValues" -> parameters().get(name);
            case "getParameterMap" -> parameters();
            case "getAttribute" ->
                    "javax.servlet.request.X509Certificate".equals(name)
                            ? exchange.certificates()
                            : null;
            case "toString" -> exchange.method() + " " + exchange.path();
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            default -> throw new UnsupportedOperationException(method.getName());
        };
    }

    private Map<String, String[]> parameters() {
        Map<String, String[]> parameters = new TreeMap<>();
        for (Map.Entry<String, List<String>> each : exchange.parameters().entrySet()) {
            parameters.put(each.getKey(), each.getValue().toArray(new String[0]));
        }
        return parameters;
    }
}
