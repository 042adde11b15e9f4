import { type Keyword, keywordsBeforeOperand, prefixKeywords, subqueryKeywords } from './keywords.ts'
import { isPunctuation, type Token } from './lexer.ts'
import { Rejection } from './rejection.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Table functions allowed after FROM and JOIN: they read only tables of this host, or nothing. */
export const allowedTableFunctions = words(`
  cluster clusterallreplicas dictionary format fuzzjson fuzzquery generaterandom generateseries generate_series merge
  mergetreeanalyzeindexes mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex null
  numbers numbers_mt primes sqlstandardvalues values view viewifpermitted zeros zeros_mt
`)

/** Functions that access files, servers, shared counters, logs or credentials, run text as SQL or only consume time. */
const forbiddenFunctions = words(`
  arrowstream azureblobstorage azureblobstoragecluster cosn eval executable file filecluster filesystem gcs hdfs
  hdfscluster input jdbc loop mongodb mysql odbc oss postgresql prometheusquery prometheusqueryrange redis remote
  remotesecure s3 s3cluster sqlite timeseriesdata timeseriesmetrics timeseriessamples timeseriesselector timeseriestags
  url urlcluster viewexplain ytsaurus
  catboostevaluate evalmlmethod generateserialid getclienthttpheader logtrace modelevaluate reversednsquery sleep sleepeachrow trap
`)
/** Forbidden functions by prefix. `icebergBucket` and similar functions are allowed: they compute partition names. */
const forbiddenFamilies =
  /^(?:iceberg(?!(?:bucket|hash|truncate)$)|deltalake|hudi|paimon|ai(?:classify|embed|extract|generate|translate))/

/** Returns whether a function with this lower-case name is forbidden everywhere. */
export const isForbiddenFunction = (name: string): boolean =>
  forbiddenFunctions.has(name) || forbiddenFamilies.test(name)

/** Functions that accept another function as the first argument, also by bare name: `arrayMap(lower, names)`. */
export const higherOrderFunctions = words(`
  arrayall arrayavg arraybottomk arraycompact arraycount arraycumsum arraycumsumnonnegative arraydifference arrayexists
  arrayfill arrayfilter arrayfirst arrayfirstindex arrayfirstornull arrayfold arraylast arraylastindex arraylastornull
  arraymap arraymax arraymin arraypartialreversesort arraypartialsort arrayproduct arrayreversefill arrayreversesort
  arrayreversesplit arraysort arraysplit arraysum arraytopk mapall mapapply mapexists mapfilter mappartialreversesort
  mappartialsort mapreversesort mapsort
`)

/** Table functions that read on the nodes of a cluster as its configured user; the second argument is a table. */
export const clusterFunctions = words('cluster clusterallreplicas')

const tableReaders =
  /^(?:joinget|dictget|dicthas|dictisin|hascolumnintable|dictionary$|mergetree(?:analyze|index|projection|textindex))/

/** Returns whether a function with this lower-case name reads tables or dictionaries named by its arguments. */
export const isTableReader = (name: string): boolean => tableReaders.test(name)

/** Ordinary functions that are allowed as the operand of IN. */
export const inOperandFunctions = words(`
  accuratecast accuratecastornull alphatokens array arraycompact arrayconcat arraydistinct arrayfilter arrayflatten arrayintersect
  arraymap arraypushback arrayslice arraysort arrayunion assumenotnull bitmaptoarray cast cityhash64 coalesce concat
  currentdatabase currentuser extractall hex hostname identity if ifnull jsonextract jsonextractarrayraw jsonextractkeys lower
  map mapkeys mapvalues materialize minus multiif ngrams now now64 plus range replace reverse splitbychar splitbynonalpha
  splitbyregexp splitbystring splitbywhitespace substr substring todate todate32 todatetime todatetime64 tofixedstring
  tofloat32 tofloat64 toint128 toint16 toint256 toint32 toint64 toint8 toipv4 toipv6 tokens tomonday tostartofday tostartofhour
  tostartofmonth tostartofweek tostring touint128 touint16 touint256 touint32 touint64 touint8 touuid toyyyymm toyyyymmdd today
  trim tuple unhex upper yesterday
`)

/** Returns whether a function is allowed as the operand of IN. Others might be unknown table functions. */
const isAllowedSet = (name: string): boolean => inOperandFunctions.has(name) || allowedTableFunctions.has(name)

/** Functions whose arguments may contain FROM: `extract(DAY FROM d)`, `trim(BOTH ' ' FROM s)`. */
export const functionsWithFromArgument = words('extract trim ltrim rtrim substring substr overlay position')

/** Returns whether an expression may end with this token: a name, a literal or a closing bracket. */
export const isOperandEnd = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined) return false
  if (token.kind === 'sign') return token.text === ')' || token.text === ']' || token.text === '}'
  if (token.word === '' || isQualified(index, tokens)) return true
  const withPrefix = onlyAfter.get(token.word)
  if (withPrefix !== undefined) return !withPrefix.includes(tokens[index - 1]?.word ?? '')
  return !keywordsBeforeOperand.has(token.word)
}

/** Words that are keywords only after certain words: `* EXCEPT STRICT a`, `WITH RECURSIVE a`, `AT TIME ZONE a`. */
const onlyAfter: ReadonlyMap<Keyword, readonly string[]> = new Map([
  ['STRICT', ['EXCEPT', 'REPLACE']],
  ['RECURSIVE', ['WITH']],
  ['TIES', ['WITH']],
  ['ZONE', ['TIME']],
])

/** Returns whether an expression certainly ends here; `interval` and `offset` may be keywords or columns. */
const surelyEndsOperand = (index: number, tokens: readonly Token[]): boolean =>
  isOperandEnd(index, tokens) && (isQualified(index, tokens) || !prefixKeywords.has(tokens[index]?.word ?? ''))

/** Returns whether a keyword is used as a name: in `t.format` and `t AS format`, but not in `SELECT as FROM t`. */
export const isUsedAsName = (index: number, tokens: readonly Token[]): boolean =>
  isQualified(index, tokens) || (tokens[index - 1]?.word === 'AS' && surelyEndsOperand(index - 2, tokens))

/** Returns whether a dot qualifies the word. In `SAMPLE . JOIN t` and `SAMPLE 1 / . JOIN t`, the dot is a number. */
export const isQualified = (index: number, tokens: readonly Token[]): boolean => {
  if (!isPunctuation(tokens[index - 1], '.')) return false
  const before = tokens[index - 2]
  return before?.word !== 'SAMPLE' && before?.word !== 'OFFSET' && !isPunctuation(before, '/')
}

/** Function forms of the operator IN, whose second argument may be a table. */
const setFunction = /^(?:global)?(?:not)?(?:null)?in(?:ignoreset)?$/i

/** Returns whether a called name is the function form of IN: `in(x, t)`, but not `x IN (t)`. */
export const isMembershipCall = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined || !setFunction.test(token.text)) return false
  return token.word !== 'IN' || token.kind === 'quoted' || !followsOperand(index, tokens)
}

const followsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const before = tokens[index - 1]?.word
  if (before === 'NOT' || before === 'GLOBAL') return followsOperand(index - 1, tokens)
  return surelyEndsOperand(index - 1, tokens)
}

/** A call as the operand of IN that might be an unknown table function. */
export interface InOperandCall {
  caller: Token
  /** Whether the call may be part of a list, as in `IN (f(x), 1)`. It then reads no table. */
  mayBeListed: boolean
}

/** Returns the call at this parenthesis if it is the operand of IN and not an allowed function. */
export const findDisallowedInOperandCall = (
  open: number,
  tokens: readonly Token[],
  levels: readonly { isSetFunction: boolean }[],
): InOperandCall | undefined => {
  const caller = tokens[open - 1]
  if (caller === undefined || !isCalled(caller)) return undefined
  let start = open - 1
  while (isPunctuation(tokens[start - 1], '.')) start -= 2
  let first = start
  while (isPunctuation(tokens[first - 1], '(')) first--
  const before = tokens[first - 1]
  const isSet =
    before?.word === 'IN' || (isPunctuation(before, ',') && levels.at(first - start - 1)?.isSetFunction === true)
  return isSet && !isAllowedSet(caller.text.toLowerCase()) ? { caller, mayBeListed: first < start } : undefined
}

const isCalled = ({ kind, word }: Token): boolean =>
  (kind === 'name' || kind === 'quoted') && word !== 'NOT' && word !== 'IN' && !subqueryKeywords.has(word)

/** Throws a `Rejection` unless the call is an item of a list, which a comma after the call shows. */
export const checkInOperandCall = ({ caller, mayBeListed }: InOperandCall, next: Token | undefined): void => {
  if (mayBeListed && isPunctuation(next, ',')) return
  const { text, position } = caller
  throw new Rejection(
    'source',
    position,
    `${text}() after IN is not a known function and may read a table; use a subquery: IN (SELECT ${text}(…))`,
  )
}
