import { type Keyword, beforeOperand, prefixWords, subqueryWords } from './keywords.ts'
import { isSign, type Token } from './lexer.ts'
import { Rejection } from './rejection.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Table functions that read nothing but this host's own tables, or nothing at all: all that may follow FROM and JOIN. */
export const harmlessSources = words(`
  cluster clusterallreplicas dictionary format fuzzjson fuzzquery generaterandom generateseries generate_series merge
  mergetreeanalyzeindexes mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex null
  numbers numbers_mt primes sqlstandardvalues values view viewifpermitted zeros zeros_mt
`)

/** Functions that reach files, other servers, shared counters, the log or what we signed in with, run text as SQL, or only burn time. */
const refusedFunctions = words(`
  arrowstream azureblobstorage azureblobstoragecluster cosn eval executable file filecluster filesystem gcs hdfs
  hdfscluster input jdbc loop mongodb mysql odbc oss postgresql prometheusquery prometheusqueryrange redis remote
  remotesecure s3 s3cluster sqlite timeseriesdata timeseriesmetrics timeseriessamples timeseriesselector timeseriestags
  url urlcluster viewexplain ytsaurus
  catboostevaluate evalmlmethod generateserialid getclienthttpheader logtrace modelevaluate reversednsquery sleep sleepeachrow trap
`)
/** `icebergBucket` and its like compute what a partition is called, and reach nothing. */
const refusedFamilies =
  /^(?:iceberg(?!(?:bucket|hash|truncate)$)|deltalake|hudi|paimon|ai(?:classify|embed|extract|generate|translate))/

/** Whether no statement may call a function of this lower-case name, wherever it stands. */
export const isRefusedFunction = (name: string): boolean => refusedFunctions.has(name) || refusedFamilies.test(name)

/** Functions whose first argument may be a function, also by its bare name: `arrayMap(lower, names)`. */
export const takesFunction = words(`
  arrayall arrayavg arraybottomk arraycompact arraycount arraycumsum arraycumsumnonnegative arraydifference arrayexists
  arrayfill arrayfilter arrayfirst arrayfirstindex arrayfirstornull arrayfold arraylast arraylastindex arraylastornull
  arraymap arraymax arraymin arraypartialreversesort arraypartialsort arrayproduct arrayreversefill arrayreversesort
  arrayreversesplit arraysort arraysplit arraysum arraytopk mapall mapapply mapexists mapfilter mappartialreversesort
  mappartialsort mapreversesort mapsort
`)

/** Table functions that read on the nodes of a cluster, in the name of the cluster's own user; their second argument is a source. */
export const clusterFunctions = words('cluster clusterallreplicas')

const tableReaders =
  /^(?:joinget|dictget|dicthas|dictisin|hascolumnintable|dictionary$|mergetree(?:analyze|index|projection|textindex))/

/** Whether a function of this lower-case name reads tables or dictionaries that its arguments name. */
export const isTableReader = (name: string): boolean => tableReaders.test(name)

/** Ordinary functions that may be called where IN expects a set. */
export const setMakers = words(`
  accuratecast accuratecastornull alphatokens array arraycompact arrayconcat arraydistinct arrayfilter arrayflatten arrayintersect
  arraymap arraypushback arrayslice arraysort arrayunion assumenotnull bitmaptoarray cast cityhash64 coalesce concat
  currentdatabase currentuser extractall hex hostname identity if ifnull jsonextract jsonextractarrayraw jsonextractkeys lower
  map mapkeys mapvalues materialize minus multiif ngrams now now64 plus range replace reverse splitbychar splitbynonalpha
  splitbyregexp splitbystring splitbywhitespace substr substring todate todate32 todatetime todatetime64 tofixedstring
  tofloat32 tofloat64 toint128 toint16 toint256 toint32 toint64 toint8 toipv4 toipv6 tokens tomonday tostartofday tostartofhour
  tostartofmonth tostartofweek tostring touint128 touint16 touint256 touint32 touint64 touint8 touuid toyyyymm toyyyymmdd today
  trim tuple unhex upper yesterday
`)

/** Whether a call of this lower-case name may stand where IN expects a set; any other might be a table function that is not known yet. */
const makesSet = (name: string): boolean => setMakers.has(name) || harmlessSources.has(name)

/** Words after which `FROM` belongs to an expression: `extract(DAY FROM d)`, `trim(BOTH ' ' FROM s)`. */
export const fromInArguments = words('extract trim ltrim rtrim substring substr overlay position')

/** Whether an expression may end here: with a name, a literal or what is closed, not with an operator or a word that begins a list. */
export const endsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined) return false
  if (token.kind === 'sign') return token.text === ')' || token.text === ']' || token.text === '}'
  if (token.word === '' || isQualified(index, tokens)) return true
  const withPrefix = onlyAfter.get(token.word)
  if (withPrefix !== undefined) return !withPrefix.includes(tokens[index - 1]?.word ?? '')
  return !beforeOperand.has(token.word)
}

/** Words that are names unless one of the others stands before them: `* EXCEPT STRICT a`, `WITH RECURSIVE a`, `TOP 1 WITH TIES a`, `AT TIME ZONE a`. */
const onlyAfter: ReadonlyMap<Keyword, readonly string[]> = new Map([
  ['STRICT', ['EXCEPT', 'REPLACE']],
  ['RECURSIVE', ['WITH']],
  ['TIES', ['WITH']],
  ['ZONE', ['TIME']],
])

/** Whether an expression ends here for certain: it may not where `interval` or `offset` may be a keyword as well as a column. */
const surelyEndsOperand = (index: number, tokens: readonly Token[]): boolean =>
  endsOperand(index, tokens) && (isQualified(index, tokens) || !prefixWords.has(tokens[index]?.word ?? ''))

/** Whether a word is a name whatever it means elsewhere: `t.format`, `t AS format`, but not `SELECT as FROM t`. */
export const isName = (index: number, tokens: readonly Token[]): boolean =>
  isQualified(index, tokens) || (tokens[index - 1]?.word === 'AS' && surelyEndsOperand(index - 2, tokens))

/** Whether a dot makes a word part of a name. In `SAMPLE . JOIN t` and `SAMPLE 1 / . JOIN t` the dot is a number of its own. */
export const isQualified = (index: number, tokens: readonly Token[]): boolean => {
  if (!isSign(tokens[index - 1], '.')) return false
  const before = tokens[index - 2]
  return before?.word !== 'SAMPLE' && before?.word !== 'OFFSET' && !isSign(before, '/')
}

/** Functions that are the operator IN: their second argument may be a table. */
const setFunction = /^(?:global)?(?:not)?(?:null)?in(?:ignoreset)?$/i

/** Whether a name that is called is the operator IN as a function: `in(x, t)`, but not `x IN (t)`. */
export const isSetFunction = (index: number, tokens: readonly Token[]): boolean => {
  const token = tokens[index]
  if (token === undefined || !setFunction.test(token.text)) return false
  return token.word !== 'IN' || token.kind === 'quoted' || !followsOperand(index, tokens)
}

const followsOperand = (index: number, tokens: readonly Token[]): boolean => {
  const before = tokens[index - 1]?.word
  if (before === 'NOT' || before === 'GLOBAL') return followsOperand(index - 1, tokens)
  return surelyEndsOperand(index - 1, tokens)
}

/** A call where a set is expected, which might be a table function that is not known yet. */
export interface SetCall {
  caller: Token
  /** Parentheses around it may hold a list, as in `IN (f(x), 1)`, where it is no table. */
  mayBeListed: boolean
}

/** The call that opens here, if it stands behind IN and is not among the functions that may. */
export const unknownSetCall = (
  open: number,
  tokens: readonly Token[],
  levels: readonly { isSetFunction: boolean }[],
): SetCall | undefined => {
  const caller = tokens[open - 1]
  if (caller === undefined || !isCalled(caller)) return undefined
  let start = open - 1
  while (isSign(tokens[start - 1], '.')) start -= 2
  let first = start
  while (isSign(tokens[first - 1], '(')) first--
  const before = tokens[first - 1]
  const isSet = before?.word === 'IN' || (isSign(before, ',') && levels.at(first - start - 1)?.isSetFunction === true)
  return isSet && !makesSet(caller.text.toLowerCase()) ? { caller, mayBeListed: first < start } : undefined
}

const isCalled = ({ kind, word }: Token): boolean =>
  (kind === 'name' || kind === 'quoted') && word !== 'NOT' && word !== 'IN' && !subqueryWords.has(word)

/** Throws for a call behind IN, unless what follows its closing parenthesis makes it part of a list. */
export const checkSetCall = ({ caller, mayBeListed }: SetCall, next: Token | undefined): void => {
  if (mayBeListed && isSign(next, ',')) return
  const { text, position } = caller
  throw new Rejection(
    'source',
    position,
    `${text}() after IN is not a known function and may read a table; use a subquery: IN (SELECT ${text}(…))`,
  )
}
