import { z } from 'zod'
import { Catalogue, ChartInfo, TableInfo } from '../catalogue.ts'
import {
  ChartData,
  ChartResult,
  Host,
  HostOverview,
  query,
  Row,
  StatementExecution,
  UnavailableReason,
} from '../query.ts'
import { DatabaseTable, FilterOption } from '../table-page.ts'
import { createResponseSchema } from './response.ts'

const Empty = z.object({})
const { hostStatus, filterOptions } = query.methods

/** Response of `GET /api/v1/hosts`. */
export const HostsResponse = createResponseSchema(z.array(Host.omit({ key: true })), Empty)
/** Response of `GET /api/v1/host-status`; `metrics` is null without `fleet=1`. */
export const HostStatusResponse = createResponseSchema(
  z.object({
    version: hostStatus.output.shape.version,
    uptime: hostStatus.output.shape.uptimeSeconds,
    ...hostStatus.output.omit({ version: true, uptimeSeconds: true }).shape,
  }),
  z.object({ host: z.string() }),
)
/** Response of `GET /api/v1/overview`. */
export const OverviewResponse = createResponseSchema(HostOverview, z.object({ host: z.string() }))
/** `GET /api/v1/catalogue`: every chart and table page, for menus and generic pages. */
export const CatalogueResponse = createResponseSchema(Catalogue, Empty)

const ChartMetadata = StatementExecution.partial().extend({
  chart: ChartInfo,
  window: ChartData.shape.window,
  unavailable: UnavailableReason.nullable(),
  /** The part that is read from the history; absent if all rows are from the host. */
  history: ChartData.shape.history,
})
/** Response of `GET /api/v1/charts/{name}`. */
export const ChartResponse = createResponseSchema(z.array(Row), ChartMetadata)
/** `POST /api/v1/charts/batch`: each chart fails independently. */
export const ChartBatchResponse = createResponseSchema(
  z.record(z.string(), ChartResult),
  z.object({ host: z.string() }),
)

/** Response of `GET /api/v1/tables/{name}`. */
export const TableResponse = createResponseSchema(
  z.array(Row),
  StatementExecution.partial().extend({
    table: TableInfo,
    limit: z.number().nullable(),
    /** Maximum rows of any response or file; null without a limit. */
    maxRows: z.number().nullable().optional(),
    /** Whether there are more rows than `limit`. */
    truncated: z.boolean(),
    /** Number of rows that match the filters; null unless this is the last page or `total=1` is set. */
    total: z.number().nullable(),
    /** The parameter `cursor` for the next page; null on the last page, and if the page has no cursors. */
    nextCursor: z.string().nullable().optional(),
    unavailable: UnavailableReason.nullable(),
    /** The range that is read from the history; absent if the rows are from the host. */
    history: ChartData.shape.history,
  }),
)
/** Response of `GET /api/v1/tables`. */
export const TableListResponse = createResponseSchema(
  z.array(DatabaseTable),
  z.object({ host: z.string(), truncated: z.boolean() }),
)
/** Response of `GET /api/v1/tables/{name}/filter-options`. */
export const FilterOptionsResponse = createResponseSchema(
  z.array(FilterOption),
  z.object({ host: z.string(), column: z.string(), ...filterOptions.output.omit({ options: true }).shape }),
)
