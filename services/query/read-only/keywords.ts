/** Every word that the guard compares, by what it is compared for. */
const texts = {
  first: 'SELECT WITH DESCRIBE EXPLAIN',
  writing:
    'INSERT ALTER DROP CREATE TRUNCATE RENAME DELETE UPDATE GRANT REVOKE ATTACH DETACH KILL SET UNDROP EXCHANGE BACKUP RESTORE OPTIMIZE',
  clause: 'SYSTEM INTO PARALLEL SETTINGS APPLY',
  endOfSources: 'SELECT WHERE PREWHERE GROUP ORDER HAVING LIMIT QUALIFY WINDOW UNION INTERSECT EXCEPT SETTINGS FORMAT',
  source: 'BY FROM JOIN DESCRIBE TABLE',
  subquery: 'SELECT WITH FROM EXPLAIN VALUES',
  beside: 'OUTFILE WITH FILL ALL DISTINCT IS NOT ARRAY OVERRIDE TOP STRICT RECURSIVE TIES TIME ZONE AST SAMPLE OFFSET',
  beforeOperand:
    'SELECT WITH DISTINCT ALL FROM JOIN ON USING BY WHERE PREWHERE HAVING LIMIT QUALIFY NOT AND OR IN LIKE ILIKE REGEXP IS BETWEEN GLOBAL DIV MOD CASE WHEN THEN ELSE AS OVER APPLY EXCEPT UNION INTERSECT',
  prefix: 'INTERVAL OFFSET TO STEP STALENESS REPLACE BOTH LEADING TRAILING FOR PLACING ROWS RANGE GROUPS',
  afterColumn:
    'AS FROM IN NOT LIKE ILIKE IS AND OR DESC ASC BETWEEN GLOBAL THEN ELSE END WHEN DIV MOD NULLS COLLATE WHERE INTO HAVING GROUP ORDER LIMIT UNION INTERSECT EXCEPT OVER',
} as const

type WordsOf<T extends string> = T extends `${infer First} ${infer Rest}` ? First | WordsOf<Rest> : T

/** A word that the guard knows. Comparing with any other would never hold, so the compiler refuses it. */
export type Keyword = WordsOf<(typeof texts)[keyof typeof texts]>

const words = (...found: readonly string[]): ReadonlySet<string> => new Set(found.flatMap((text) => text.split(' ')))

/** A statement begins with one of these. */
export const firstWords = words(texts.first)

/** Words of statements that change something. A column of such a name is written in quotes. */
export const writingWords = words(texts.writing)

/** Words with which something refused may begin. */
export const guardedWords = words(texts.writing, texts.clause)

/** Words that end the list of sources of a SELECT. */
export const endOfSources = words(texts.endOfSources)

/** Words that begin or end a list of sources. */
export const clauseWords = words(texts.endOfSources, texts.source)

/** Words with which a subquery begins, also in the parentheses where a source is expected. */
export const subqueryWords: ReadonlySet<string> = words(texts.subquery)

/** Words after which an expression begins, so that none ends with them. */
export const beforeOperand = words(texts.beforeOperand)

/** Words after which an expression begins where they are no columns, of which many have such a name: `INTERVAL a DAY`. */
export const prefixWords = words(texts.prefix)

/** Words that may follow a column of the name `settings`; anything else after it is a SETTINGS clause. */
export const afterColumn = words(texts.afterColumn)

const byLowerCase: ReadonlyMap<string, Keyword> = new Map(
  // Splitting at every blank is what `WordsOf` does.
  ([...words(...Object.values(texts))] as Keyword[]).map((word) => [word.toLowerCase(), word]),
)

const lowerCase = 0x20
/** For each first letter a bit for every length that a keyword has; most other words are told by that. */
const lengths: number[] = Array.from({ length: 128 }, () => 0)
for (const word of byLowerCase.keys())
  lengths[word.charCodeAt(0)] = (lengths[word.charCodeAt(0)] ?? 0) | (1 << word.length)

/** The keyword that a bare word is, whatever its case; empty when it is none. */
export const keywordOf = (text: string): Keyword | '' => {
  const known = lengths[codeAt(text, 0) | lowerCase] ?? 0
  return known & (1 << text.length) ? (byLowerCase.get(inLowerCase(text)) ?? '') : ''
}

// Taken from the prototype, since V8 looks methods of strings up at every call once any module extends `String`, as ioredis does.
const { charCodeAt, slice, toLowerCase } = String.prototype

/** The code of a character of a text. */
export const codeAt = (text: string, position: number): number => charCodeAt.call(text, position)
/** The part of a text between two positions. */
export const cut = (text: string, start: number, end: number): string => slice.call(text, start, end)
/** A text in lower case. */
export const inLowerCase = (text: string): string => toLowerCase.call(text)
