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

/** Words after which `FROM` belongs to an expression: `extract(DAY FROM d)`, `trim(BOTH ' ' FROM s)`. */
export const fromInArguments = words('extract trim ltrim rtrim substring substr overlay position')
