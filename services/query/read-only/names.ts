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
export const makesSet = (name: string): boolean => setMakers.has(name) || harmlessSources.has(name)

/** Words after which `FROM` belongs to an expression: `extract(DAY FROM d)`, `trim(BOTH ' ' FROM s)`. */
export const fromInArguments = words('extract trim ltrim rtrim substring substr overlay position')
