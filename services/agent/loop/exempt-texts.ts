const months = '(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\\.?'
/** Texts that contain digits but no figure: addresses, dates, times, versions, identifiers, ids and list numbers. */
const exemptPatterns: readonly RegExp[] = [
  /https?:\/\/\S+/gi,
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi,
  /(?<![\d.])(?:19|20)\d\d([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])(?![\d.]*\d)(?:t(?=\d))?/gi,
  /(?<![\d.,-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\d.,-]*\d)/g,
  /(?<![\d.])(?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|1[0-2])[./](?:19|20)\d\d\b/g,
  new RegExp(`\\b${months} \\d{1,2}(?:st|nd|rd|th)?(?:,? (?:19|20)\\d\\d)?\\b(?![.,]?\\d)(?! ?%)`, 'gi'),
  new RegExp(`\\b\\d{1,2}(?:st|nd|rd|th)?\\.? ${months}(?: (?:19|20)\\d\\d)?(?![a-z])`, 'gi'),
  /\b(?:in|since|until|year) (?:19|20)\d\d(?=[.,;:)]|$)/gi,
  /(?<![\d.,:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:z\b|[+-]\d\d:?\d\d\b)?(?![\d:])/gi,
  /(?:\b(?:versions?|clickhouse|release)\s+v?|\bv)\d+(?:\.\d+)+(?:-[\w.]+)?/gi,
  /(?<![\d.,])(?!\d{1,3}(?:\.\d{3}){2,}(?![\d.]))\d+\.\d+\.\d+(?:\.\d+)*(?:-[\w.]+)?/g,
  /\b(?:host|host ?id|shard|replica|node|port|pid|id|step|rule|option|code|error|errno|session|process|signal|thread|partition|level|rfc|issue)(?: #?|#|[:=] ?)\d+\b(?!\.\d)(?! ?[%×]| times| ?(?:[kmgtp]i?b|[nuµm]?s|sec\w*|min\w*|h|hours?|days?|weeks?)\b)/gi,
  /\b(?:hosts|shards|replicas|nodes|ports|codes|partitions|steps|rules) \d+(?:(?:, ?| and | or |, and |-|–)\d+)+\b(?!\.\d)/gi,
  /\bhttps?(?:\/\d(?:\.\d)?)?(?: status)?(?: code)?:? [1-5]\d\d\b(?!\.?\d)/gi,
  /#\d+\b/g,
  /(?<=\d):1\b(?![:.]?\d)/g,
  /\b\d+(?:st|nd|rd|th)\b/gi,
  /\b\d-?xx\b/gi,
  /\b\d+[- ]bit\b/gi,
  /^\s*\d{1,3}[.)](?=\s|$)/gm,
]

/** A code span is a figure if it contains only a number and its unit. Other code spans are names or statements. */
const plainCodeSpan = /^[-+~≈]?\s?\d[\d.,_\s]*\s?(?:[a-zµ%×]{1,12}(?:\/s)?)?$/i

/** Returns as many spaces as the text has characters. */
export const blank = (found: string): string => ' '.repeat(found.length)

/** Replaces code, Markdown marks and numbers that are no figures with as many spaces, so that positions stay valid. */
export const blankExempt = (text: string): string => {
  const withoutCode = text.replaceAll(/(`+)([^`]+)\1/g, (found: string, marks: string, inner: string) =>
    plainCodeSpan.test(inner.trim()) ? `${blank(marks)}${inner}${blank(marks)}` : blank(found),
  )
  const withoutMarks = withoutCode
    .replaceAll(/^\s*(?:[-+*]|#+)\s/gm, blank)
    .replaceAll(/~{2,}|\*\*+|(?<!\d\s?)\*|\*(?!\s?\d)/g, blank)
    .replaceAll(/(?<![\p{L}\p{N}_])_+(?=[\d~≈-])|(?<=[\d%])_+(?![\p{L}\p{N}_])/gu, blank)
  return exemptPatterns.reduce((rest, pattern) => rest.replaceAll(pattern, blank), withoutMarks)
}
