/** The parameter by which a table page says that it looks back, and how many hours; without schemas, for the browser. */
export const lookBack = 'last_hours'
