/** All keywords that the guard compares, by purpose. */
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

/** A keyword of the read-only check. The type makes comparisons with misspelled keywords a compile error. */
export type Keyword = WordsOf<(typeof texts)[keyof typeof texts]>

const words = (...found: readonly string[]): ReadonlySet<string> => new Set(found.flatMap((text) => text.split(' ')))

/** Keywords that may begin a statement. */
export const leadingKeywords = words(texts.first)

/** Keywords of statements that write. A column with such a name must be quoted. */
export const writeKeywords = words(texts.writing)

/** Keywords that may begin a rejected clause or statement. */
export const checkedKeywords = words(texts.writing, texts.clause)

/** Keywords that end the FROM list of a SELECT. */
export const sourceEndKeywords = words(texts.endOfSources)

/** Keywords that begin or end a FROM list. */
export const clauseKeywords = words(texts.endOfSources, texts.source)

/** Keywords that begin a subquery, also within the parentheses of a FROM list. */
export const subqueryKeywords: ReadonlySet<string> = words(texts.subquery)

/** Keywords that are followed by an expression. */
export const keywordsBeforeOperand = words(texts.beforeOperand)

/** Keywords that are followed by an expression, as in `INTERVAL a DAY`, but may also be column names. */
export const prefixKeywords = words(texts.prefix)

/** Keywords that may follow a column named `settings`; any other word makes it a SETTINGS clause. */
export const keywordsAfterColumn = words(texts.afterColumn)

const byLowerCase: ReadonlyMap<string, Keyword> = new Map(
  // The cast is safe, because `words` and the type `WordsOf` split the texts at the same spaces.
  ([...words(...Object.values(texts))] as Keyword[]).map((word) => [word.toLowerCase(), word]),
)

const lowerCase = 0x20
/** Bit masks of keyword lengths by first letter, which rule out most other words without a lookup. */
const lengths: number[] = Array.from({ length: 128 }, () => 0)
for (const word of byLowerCase.keys())
  lengths[word.charCodeAt(0)] = (lengths[word.charCodeAt(0)] ?? 0) | (1 << word.length)

/** Returns the keyword for a bare word in any case; empty when it is not a keyword. */
export const findKeyword = (text: string): Keyword | '' => {
  const known = lengths[readCharCode(text, 0) | lowerCase] ?? 0
  return known & (1 << text.length) ? (byLowerCase.get(convertToLowerCase(text)) ?? '') : ''
}

// Called through the prototype, because V8 looks up string methods on every call once a module such as ioredis extends
// `String`.
const { charCodeAt, slice, toLowerCase } = String.prototype

export const readCharCode = (text: string, position: number): number => charCodeAt.call(text, position)
export const sliceText = (text: string, start: number, end: number): string => slice.call(text, start, end)
export const convertToLowerCase = (text: string): string => toLowerCase.call(text)
