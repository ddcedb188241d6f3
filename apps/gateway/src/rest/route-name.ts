// Under which a controller's method remembers the route that it serves.
export const ROUTE_NAME = Symbol('RestRouteName');
