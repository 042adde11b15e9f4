import { z } from 'zod'
import { Interval, intervals } from '../catalogue.ts'
import { PlaceholderValues, TimeRangeInput, filterOperators } from '../query.ts'
import { exportFormats, maxDatabaseTables } from '../table-page.ts'

/** Names of the path parameters of a route, which are between braces in its path. */
export type PathParameter<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? N | PathParameter<Rest>
  : never

/** A query parameter that must be present exactly once. */
export const textParameter = z.string({
  error: (issue) => (issue.input === undefined ? 'is required' : 'must be given only once'),
})

/** Returns metadata with the OpenAPI schema of a parameter whose text is parsed into another type. */
const withOpenApiSchema = (schema: Record<string, unknown>) => ({ override: schema })

/** Returns the schema of a whole number without sign, exponent or leading zeros. */
export const createIntegerParameter = (min: number, max: number) => {
  const sentence = `must be a whole number from ${min} to ${max}`
  return textParameter
    .regex(/^(0|[1-9]\d{0,14})$/, sentence)
    .transform(Number)
    .refine((value) => value >= min && value <= max, sentence)
    .meta(withOpenApiSchema({ type: 'integer', minimum: min, maximum: max, pattern: undefined }))
}

/** Returns the schema of an integer query parameter with the same bounds as a field of a bus method. */
export const deriveIntegerParameter = (field: z.ZodOptional<z.ZodNumber> | z.ZodDefault<z.ZodNumber>) => {
  const { minValue, maxValue }: z.ZodNumber = field.unwrap()
  return createIntegerParameter(minValue ?? 0, maxValue ?? Number.MAX_SAFE_INTEGER)
}

/** The maximum position in the host list. */
const maxHostId = 99_999
/** The minimum id. Stored connections have negative ids, from -1 downwards. */
const minHostId = -2_147_483_647
const hostIdSentence = `must be a whole number up to ${maxHostId}; negative only for a stored connection`
const hostIdMeaning = 'Position in the list of hosts; negative for a stored connection of the caller.'

/** A host id in a query parameter. */
export const hostId = textParameter
  .regex(/^(0|-?[1-9]\d{0,9})$/, hostIdSentence)
  .transform(Number)
  .refine((id) => id >= minHostId && id <= maxHostId, hostIdSentence)
  .meta(withOpenApiSchema({ type: 'integer', minimum: minHostId, maximum: maxHostId, pattern: undefined }))
  .describe(hostIdMeaning)
/** A host id in a JSON body. */
export const bodyHostId = z.int().min(minHostId, hostIdSentence).max(maxHostId, hostIdSentence).describe(hostIdMeaning)

/** The query of a route without parameters. Parameters that probes or proxies add are ignored. */
export const noQuery = z.object({})
/** The body of a route that requires an empty object. */
export const emptyRequestBody = z.strictObject({})
/** The query parameters of a route about one host. */
export const HostQuery = z.strictObject({ hostId })

const yesWords = new Set(['1', 'true'])
const noWords = new Set(['0', 'false'])

/** A boolean query parameter: `1` or `true`, `0` or `false`. */
export const booleanParameter = textParameter
  .refine((word) => yesWords.has(word) || noWords.has(word), 'must be 1 or 0')
  .transform((word) => yesWords.has(word))
  .meta(withOpenApiSchema({ enum: [...yesWords, ...noWords] }))

/** Query parameters of `GET /api/v1/overview`. With `own=1`, numbers of queries include those of the product itself. */
export const OverviewQuery = z.strictObject({ hostId, own: booleanParameter.optional() })
/** Query parameters of `GET /api/v1/host-status`. */
export const HostStatusQuery = z.strictObject({ hostId, fleet: booleanParameter.default(false) })

/** An IANA time zone, converted to its canonical spelling because ClickHouse is case-sensitive here. */
export const TimeZone = textParameter
  .regex(/^[A-Za-z][\w+/-]{0,63}$/, 'must be a time zone such as Europe/Berlin')
  .transform((name, context) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a time zone such as Europe/Berlin' })
      return z.NEVER
    }
  })

const primitiveMap = 'must be a JSON object of at most 20 texts, numbers, booleans or nulls'
/** Maximum length of `params`: 20 escaped keys and values of maximum length. */
const maxParametersLength = 16_384

/** Values of chart placeholders, as a JSON object. */
const JsonParameters = textParameter
  .max(maxParametersLength, `must not be longer than ${maxParametersLength} characters`)
  .transform((json, context): unknown => {
    try {
      return JSON.parse(json)
    } catch {
      context.addIssue({ code: 'custom', message: primitiveMap })
      return z.NEVER
    }
  })
  .pipe(PlaceholderValues)

/** Returns whether the start of a window is before its end, or one of them is absent. */
export const isWindowOrdered = (window: { from?: number | undefined; to?: number | undefined }) =>
  window.from === undefined || window.to === undefined || window.from < window.to
/** The issue to report if the start of a window is not before its end. */
export const windowOrderIssue = { path: ['to'], message: 'must be later than from' }

/** Maximum timestamp in epoch seconds: the last second of the year 2099. */
const maxEpochSeconds = 4_102_444_799

/** A unit of epoch times, with its length in milliseconds. */
const epochUnits = { seconds: 1_000, milliseconds: 1 } as const
type EpochUnit = keyof typeof epochUnits

const Instant = z.iso.datetime({ offset: true })

/** Returns the epoch time of a date-time or of a number in the unit; undefined if it is neither. */
const parseTime = (given: string, unit: EpochUnit): number | undefined => {
  const max = maxEpochSeconds * (1_000 / epochUnits[unit])
  const time = /^(0|[1-9]\d{0,14})$/.test(given)
    ? Number(given)
    : Math.floor(Instant.safeParse(given).success ? Date.parse(given) / epochUnits[unit] : Number.NaN)
  return time >= 0 && time <= max ? time : undefined
}

const describeTime = (unit: EpochUnit) => ({
  sentence: `must be a time with its zone, such as 2026-06-01T22:00:00Z, or epoch ${unit}`,
  schema: {
    ...withOpenApiSchema({ type: 'string', format: 'date-time', pattern: undefined }),
    description: `An RFC 3339 date-time. Epoch ${unit} are deprecated.`,
  },
})

/** Returns the schema of a time in a query: a date-time, or an epoch time in the unit, to which both are converted. */
export const createTimeParameter = (unit: EpochUnit) => {
  const { sentence, schema } = describeTime(unit)
  return textParameter
    .transform((given, context) => {
      const time = parseTime(given, unit)
      if (time !== undefined) return time
      context.addIssue({ code: 'custom', message: sentence })
      return z.NEVER
    })
    .meta(schema)
}

const bodyTime = describeTime('seconds')
/** A time in a JSON body: a date-time or epoch seconds, converted to epoch seconds. */
export const bodySeconds = z
  .union([z.int(), z.string()], bodyTime.sentence)
  .transform((given, context) => {
    const time = parseTime(String(given), 'seconds')
    if (time !== undefined) return time
    context.addIssue({ code: 'custom', message: bodyTime.sentence })
    return z.NEVER
  })
  .meta(bodyTime.schema)

/**
 * Time range parameters. `from` and `to` are date-times or epoch seconds and override `lastMinutes`, which overrides
 * `lastHours`.
 */
export const timeRangeParameters = {
  lastHours: deriveIntegerParameter(TimeRangeInput.shape.lastHours).optional(),
  lastMinutes: deriveIntegerParameter(TimeRangeInput.shape.lastMinutes).optional(),
  from: createTimeParameter('seconds').optional(),
  to: createTimeParameter('seconds').optional(),
}

/** Metadata of parameters and fields that a newer one replaces. */
export const deprecated = { deprecated: true } as const

/** The cursor of a page in a query: `metadata.nextCursor` of the previous page. */
export const createCursorParameter = <S extends z.ZodType>(schema: S) =>
  schema.meta({ description: '`metadata.nextCursor` of the previous page.' })

/** Returns whether only one of two parameters with the same meaning is given. */
export const isGivenOnce = (newer: unknown, older: unknown): boolean => newer === undefined || older === undefined
/** The issue to report if a cursor and its older spelling are given. */
export const cursorIssue = { path: ['cursor'], message: 'and before are mutually exclusive' }
/** The issue to report if a host id and its older spelling are given. */
export const hostIssue = { path: ['hostId'], message: 'and host are mutually exclusive' }

/** Query parameters of `GET /api/v1/charts/{name}`. */
export const ChartQuery = z
  .strictObject({
    hostId: hostId.default(0),
    interval: z.enum(intervals, `must be one of ${intervals.join(', ')}`).optional(),
    ...timeRangeParameters,
    timezone: TimeZone.optional(),
    parameters: JsonParameters.optional(),
    // The Python client cannot send a parameter with this name, so the API document omits it.
    params: JsonParameters.optional().meta({ 'x-undocumented': true }),
  })
  .refine(isWindowOrdered, windowOrderIssue)
  .refine(({ parameters, params }) => isGivenOnce(parameters, params), {
    path: ['parameters'],
    message: 'and params are mutually exclusive',
  })

/** Body of `POST /api/v1/charts/batch`: several charts of one host over one window. */
export const ChartBatchRequest = z
  .strictObject({
    names: z.array(z.string().min(1).max(128)).min(1).max(50),
    hostId: bodyHostId.default(0),
    interval: Interval.optional(),
    lastHours: TimeRangeInput.shape.lastHours,
    lastMinutes: TimeRangeInput.shape.lastMinutes,
    from: bodySeconds.optional(),
    to: bodySeconds.optional(),
    timezone: TimeZone.optional(),
    params: PlaceholderValues.optional(),
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** A column and a direction: `column.asc` or `column.desc`. */
const Sort = textParameter
  .regex(/^.{1,128}\.(asc|desc)$/, 'must be a column and a direction, such as elapsed.desc')
  .transform((given) => {
    const dot = given.lastIndexOf('.')
    return { column: given.slice(0, dot), direction: given.endsWith('.desc') ? ('desc' as const) : ('asc' as const) }
  })

const filterPattern = new RegExp(
  `^(?<column>.{1,128}?)\\.(?<operator>${filterOperators.join('|')})\\.(?<value>.*)$`,
  's',
)
const Operator = z.enum(filterOperators)
/** Operators with comma-separated values. */
const listOperators: ReadonlySet<string> = new Set(['in', 'notIn', 'between'])
const maxValueLength = 1024
const maxFilterValues = 50

/** A comma between values. A comma inside a value is escaped by a backslash. */
const separator = /(?<!\\),/

/**
 * A filter as `column.operator.value`. The values of `in`, `notIn` and `between` are separated by commas; `\,` is a
 * literal comma.
 */
const TableFilter = z
  .string()
  .max(maxValueLength * 4, `must not be longer than ${maxValueLength * 4} characters`)
  .transform((given, context) => {
    const { column, operator, value } = filterPattern.exec(given)?.groups ?? {}
    const known = Operator.safeParse(operator)
    if (column === undefined || value === undefined || !known.success) {
      const message = `must be column.operator.value with one of ${filterOperators.join(', ')}`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    const values = listOperators.has(known.data)
      ? value.split(separator).map((each) => each.replaceAll('\\,', ','))
      : [value]
    if (values.length > maxFilterValues || values.some((each) => each.length > maxValueLength)) {
      const message = `must have at most ${maxFilterValues} values of ${maxValueLength} characters`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    return { column, operator: known.data, values }
  })

const filters = z.preprocess(
  (given) => (typeof given === 'string' ? [given] : given),
  z.array(TableFilter).max(20, 'must be given at most 20 times').default([]),
)

/** Parameters that select rows of a table page. All others are values of declared page parameters. */
const rowSelectionParameters = {
  hostId: hostId.default(0),
  ...timeRangeParameters,
  filter: filters,
  search: textParameter.max(256, 'must not be longer than 256 characters').optional(),
  timezone: TimeZone.optional(),
}
const pageParameter = textParameter.max(512, 'must not be longer than 512 characters')

/**
 * `GET /api/v1/tables/{name}`. `limit` and `pageSize` are aliases; `page` starts at 1 and is an alternative to
 * `offset`. `cursor` is the `nextCursor` of the previous page. `total=1` requests the number of matching rows on every
 * page; `format` requests a file.
 */
export const TableQuery = z
  .object({
    ...rowSelectionParameters,
    sort: Sort.optional(),
    limit: createIntegerParameter(1, 1_000_000).optional(),
    pageSize: createIntegerParameter(1, 1_000_000).optional().meta(deprecated),
    page: createIntegerParameter(1, 1_000_000).optional().meta(deprecated),
    offset: createIntegerParameter(0, 1_000_000_000).optional().meta(deprecated),
    cursor: createCursorParameter(textParameter.max(2_048, 'must not be longer than 2048 characters')).optional(),
    total: booleanParameter.default(false),
    format: z.enum(['json', ...exportFormats], `must be one of json, ${exportFormats.join(', ')}`).optional(),
  })
  .catchall(pageParameter)
  .refine((query) => query.limit === undefined || query.pageSize === undefined, {
    path: ['pageSize'],
    message: 'is an alias of limit; specify only one of them',
  })
  .refine((query) => query.page === undefined || query.offset === undefined, {
    path: ['page'],
    message: 'and offset are mutually exclusive',
  })
  .refine((query) => query.cursor === undefined || (query.page ?? query.offset) === undefined, {
    path: ['cursor'],
    message: 'cannot be combined with page or offset',
  })
  .refine((query) => query.page === undefined || (query.limit ?? query.pageSize) !== undefined, {
    path: ['page'],
    message: 'requires limit or pageSize',
  })
  .refine(isWindowOrdered, windowOrderIssue)

/** Query parameters of `GET /api/v1/tables/{name}/filter-options`. */
export const FilterOptionsQuery = z
  .object({
    ...rowSelectionParameters,
    column: textParameter.min(1, 'must name a column').max(128, 'must not be longer than 128 characters'),
  })
  .catchall(pageParameter)
  .refine(isWindowOrdered, windowOrderIssue)

const defaultDatabaseTables = 1_000

/** Query parameters of `GET /api/v1/tables`; `search` matches substrings of `database.table`. */
export const TableListQuery = z.strictObject({
  hostId: hostId.default(0),
  search: rowSelectionParameters.search,
  limit: createIntegerParameter(1, maxDatabaseTables).default(defaultDatabaseTables),
})
