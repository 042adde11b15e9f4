const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** A statement begins with one of these. */
export const firstWords = words('SELECT WITH DESCRIBE EXPLAIN')

/** Words of statements that change something. A column of such a name is written in quotes. */
export const writingWords = words(`
  INSERT ALTER DROP CREATE TRUNCATE RENAME DELETE UPDATE GRANT REVOKE ATTACH DETACH KILL SET
  UNDROP EXCHANGE BACKUP RESTORE OPTIMIZE
`)

/** Table functions that read nothing but this host's own tables, or nothing at all: all that may follow FROM and JOIN. */
export const harmlessSources = words(`
  cluster clusterallreplicas dictionary format fuzzjson fuzzquery generaterandom generateseries generate_series merge
  mergetreeanalyzeindexes mergetreeanalyzeindexesuuid mergetreeindex mergetreeprojection mergetreetextindex null
  numbers numbers_mt primes sqlstandardvalues values view viewifpermitted zeros zeros_mt
`)

/** Functions that reach files, other servers, shared counters or the log, run text as SQL, or only burn time. */
const refusedFunctions = words(`
  arrowstream azureblobstorage azureblobstoragecluster cosn eval executable file filecluster filesystem gcs hdfs
  hdfscluster input jdbc loop mongodb mysql odbc oss postgresql prometheusquery prometheusqueryrange redis remote
  remotesecure s3 s3cluster sqlite timeseriesdata timeseriesmetrics timeseriessamples timeseriesselector timeseriestags
  url urlcluster viewexplain ytsaurus
  aiclassify aiembed aiextract aigenerate aitranslate catboostevaluate evalmlmethod generateserialid logtrace
  reversednsquery sleep sleepeachrow trap
`)
const refusedFamilies = /^(?:iceberg|deltalake|hudi|paimon)/

/** Whether no statement may call a function of this lower-case name, wherever it stands. */
export const isRefusedFunction = (name: string): boolean => refusedFunctions.has(name) || refusedFamilies.test(name)

/** Words after which `FROM` belongs to an expression: `extract(DAY FROM d)`, `trim(BOTH ' ' FROM s)`. */
export const fromInArguments = words('extract trim ltrim rtrim substring substr overlay position')

/** Words that end the list of sources of a SELECT. */
export const endOfSources = words(`
  SELECT WHERE PREWHERE GROUP ORDER HAVING LIMIT OFFSET QUALIFY WINDOW UNION INTERSECT EXCEPT SETTINGS FORMAT SAMPLE ON USING
`)

/** Words that may follow a column of the name `settings`; anything else after it is a SETTINGS clause. */
export const afterColumn = words(`
  AS FROM IN NOT LIKE ILIKE IS AND OR DESC ASC BETWEEN GLOBAL THEN ELSE END WHEN DIV MOD NULLS COLLATE WHERE INTO
  HAVING GROUP ORDER LIMIT UNION INTERSECT EXCEPT OVER
`)
