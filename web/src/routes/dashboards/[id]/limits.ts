/** Number of columns of the grid. The limits of the service are the same; its schemas are not part of the web build. */
export const gridColumns = 12
/** Maximum number of panels of a dashboard. */
export const maxPanels = 100
/** The format of dashboards that this release writes. */
export const schemaVersion = 1
/**
 * Maximum number of charts that one request fetches. It also fetches the changes of the host; the API allows 50 charts.
 */
export const maxGroupCharts = 49
