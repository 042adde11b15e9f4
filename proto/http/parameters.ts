import { z } from 'zod'
import { Interval, intervals } from '../catalogue.ts'
import { Parameters, Span, filterOperators } from '../query.ts'
import { exportFormats, maxDatabaseTables } from '../table-page.ts'

/** Names between braces in the path of a route. */
export type PathParameter<P extends string> = P extends `${string}{${infer N}}${infer Rest}`
  ? N | PathParameter<Rest>
  : never

/** A query parameter as it stands in the URL: present, and given once. */
export const text = z.string({
  error: (issue) => (issue.input === undefined ? 'is required' : 'must be given only once'),
})

/** What the OpenAPI document says of a parameter whose text stands for something else. */
const inContract = (schema: Record<string, unknown>) => ({ override: schema })

/** A whole number without sign, exponent or leading zeros. */
export const whole = (min: number, max: number) => {
  const sentence = `must be a whole number from ${min} to ${max}`
  return text
    .regex(/^(0|[1-9]\d{0,14})$/, sentence)
    .transform(Number)
    .refine((value) => value >= min && value <= max, sentence)
    .meta(inContract({ type: 'integer', minimum: min, maximum: max, pattern: undefined }))
}

/** A whole number within the bounds that a field of the bus has. */
export const wholeAs = (field: z.ZodOptional<z.ZodNumber> | z.ZodDefault<z.ZodNumber>) => {
  const { minValue, maxValue }: z.ZodNumber = field.unwrap()
  return whole(minValue ?? 0, maxValue ?? Number.MAX_SAFE_INTEGER)
}

/** More hosts than this would not fit one list. */
const lastHostId = 99_999
/** Kept connections are counted downwards from -1. */
const firstHostId = -2_147_483_647
const hostIdSentence = `must be a whole number up to ${lastHostId}, negative only for a connection of your own`
const hostIdMeaning = 'Position in the list of hosts; negative for a connection that the caller keeps.'

/** A host as a parameter names it. */
export const hostId = text
  .regex(/^(0|-?[1-9]\d{0,9})$/, hostIdSentence)
  .transform(Number)
  .refine((id) => id >= firstHostId && id <= lastHostId, hostIdSentence)
  .meta(inContract({ type: 'integer', minimum: firstHostId, maximum: lastHostId, pattern: undefined }))
  .describe(hostIdMeaning)
/** A host as a JSON body names it. */
export const bodyHostId = z
  .int()
  .min(firstHostId, hostIdSentence)
  .max(lastHostId, hostIdSentence)
  .describe(hostIdMeaning)

/** Of a route that takes no parameters; whatever a probe or a proxy adds is ignored. */
export const noQuery = z.object({})
/** The body of a route that reads one and needs nothing of it. */
export const noBody = z.strictObject({})
/** What a route knows that answers for one host, named by the caller. */
export const HostQuery = z.strictObject({ hostId })

const yesWords = new Set(['1', 'true'])
const noWords = new Set(['0', 'false'])

/** 1 or 0. */
export const yesOrNo = text
  .refine((word) => yesWords.has(word) || noWords.has(word), 'must be 1 or 0')
  .transform((word) => yesWords.has(word))
  .meta(inContract({ enum: [...yesWords, ...noWords] }))

/** `GET /api/v1/host-status` */
export const HostStatusQuery = z.strictObject({ hostId, fleet: yesOrNo.default(false) })

/** An IANA time zone in its own spelling: hosts tell upper from lower case. */
export const TimeZone = text
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
/** Longest `params` text: 20 keys and values at their limits, escaped. */
const parametersLength = 16_384

/** Values for a chart's placeholders, as JSON text. */
const JsonParameters = text
  .max(parametersLength, `must not be longer than ${parametersLength} characters`)
  .transform((json, context): unknown => {
    try {
      return JSON.parse(json)
    } catch {
      context.addIssue({ code: 'custom', message: primitiveMap })
      return z.NEVER
    }
  })
  .pipe(Parameters)

/** Refinement: a window begins before it ends. */
export const forwards = (window: { from?: number | undefined; to?: number | undefined }) =>
  window.from === undefined || window.to === undefined || window.from < window.to
/** What is said of a window that does not. */
export const backwards = { path: ['to'], message: 'must be later than from' }

/** The last second of the year 2099. */
export const latestSecond = 4_102_444_799

/** From when to when, of whatever looks back: instants in epoch seconds, which win over `lastHours`. */
export const span = {
  lastHours: wholeAs(Span.shape.lastHours).optional(),
  from: whole(0, latestSecond).optional(),
  to: whole(0, latestSecond).optional(),
}

/** `GET /api/v1/charts/{name}` */
export const ChartQuery = z
  .strictObject({
    hostId: hostId.default(0),
    interval: z.enum(intervals, `must be one of ${intervals.join(', ')}`).optional(),
    ...span,
    timezone: TimeZone.optional(),
    params: JsonParameters.optional(),
  })
  .refine(forwards, backwards)

/** `POST /api/v1/charts/batch`: several charts of one host over one window. */
export const ChartBatchRequest = z
  .strictObject({
    names: z.array(z.string().min(1).max(128)).min(1).max(50),
    hostId: bodyHostId.default(0),
    interval: Interval.optional(),
    lastHours: Span.shape.lastHours,
    from: z.int().min(0).max(latestSecond).optional(),
    to: z.int().min(0).max(latestSecond).optional(),
    timezone: TimeZone.optional(),
    params: Parameters.optional(),
  })
  .refine(forwards, backwards)

/** `column.asc` or `column.desc`. */
const Sort = text
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
/** Operators whose values are separated by commas. */
const ofSeveral: ReadonlySet<string> = new Set(['in', 'notIn', 'between'])
const valueLength = 1024
const inValues = 50

/** Commas between values; one that belongs to a value has a backslash before it. */
const separator = /(?<!\\),/

/** `column.operator.value`; the values of `in`, `notIn` and `between` are separated by commas, and `\,` is a comma in one. */
const TableFilter = z
  .string()
  .max(valueLength * 4, `must not be longer than ${valueLength * 4} characters`)
  .transform((given, context) => {
    const { column, operator, value } = filterPattern.exec(given)?.groups ?? {}
    const known = Operator.safeParse(operator)
    if (column === undefined || value === undefined || !known.success) {
      const message = `must be column.operator.value with one of ${filterOperators.join(', ')}`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    const values = ofSeveral.has(known.data)
      ? value.split(separator).map((each) => each.replaceAll('\\,', ','))
      : [value]
    if (values.length > inValues || values.some((each) => each.length > valueLength)) {
      const message = `must have at most ${inValues} values of ${valueLength} characters`
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    return { column, operator: known.data, values }
  })

const filters = z.preprocess(
  (given) => (typeof given === 'string' ? [given] : given),
  z.array(TableFilter).max(20, 'must be given at most 20 times').default([]),
)

/** What selects rows of a table page; every other parameter is a value for one that the page declares. */
const selecting = {
  hostId: hostId.default(0),
  ...span,
  filter: filters,
  search: text.max(256, 'must not be longer than 256 characters').optional(),
  timezone: TimeZone.optional(),
}
const pageParameter = text.max(512, 'must not be longer than 512 characters')

/**
 * `GET /api/v1/tables/{name}`. `limit` and `pageSize` mean the same; `page` counts from 1 and stands for an `offset`.
 * `total=1` counts all rows when there are more; `format` asks for a file instead of an answer.
 */
export const TableQuery = z
  .object({
    ...selecting,
    sort: Sort.optional(),
    limit: whole(1, 1_000_000).optional(),
    pageSize: whole(1, 1_000_000).optional(),
    page: whole(1, 1_000_000).optional(),
    offset: whole(0, 1_000_000_000).optional(),
    total: yesOrNo.default(false),
    format: z.enum(['json', ...exportFormats], `must be one of json, ${exportFormats.join(', ')}`).optional(),
  })
  .catchall(pageParameter)
  .refine((query) => query.limit === undefined || query.pageSize === undefined, {
    path: ['pageSize'],
    message: 'means the same as limit; give one of them',
  })
  .refine((query) => query.page === undefined || query.offset === undefined, {
    path: ['page'],
    message: 'and offset exclude each other',
  })
  .refine((query) => query.page === undefined || (query.limit ?? query.pageSize) !== undefined, {
    path: ['page'],
    message: 'needs limit or pageSize',
  })
  .refine(forwards, backwards)

/** `GET /api/v1/tables/{name}/filter-options` */
export const FilterOptionsQuery = z
  .object({
    ...selecting,
    column: text.min(1, 'must name a column').max(128, 'must not be longer than 128 characters'),
  })
  .catchall(pageParameter)
  .refine(forwards, backwards)

const defaultDatabaseTables = 1_000

/** `GET /api/v1/tables`; `search` is text that `database.table` contains. */
export const TableListQuery = z.strictObject({
  hostId: hostId.default(0),
  search: selecting.search,
  limit: whole(1, maxDatabaseTables).default(defaultDatabaseTables),
})
