/** Whether a text is like a pattern in which `*` stands for any text and `?` for one character; letters match in either case. */
export const isLike = (given: string, pattern: string): boolean => {
  const text = [...given.toLowerCase()]
  const wanted = [...pattern.toLowerCase()]
  let at = 0
  let of = 0
  /** Where the last star stood, and how much of the text it stands for so far: all that ever has to be tried again. */
  let star = -1
  let taken = 0
  while (at < text.length) {
    if (wanted[of] === '*') {
      star = of
      taken = at
      of += 1
    } else if (wanted[of] === '?' || wanted[of] === text[at]) {
      at += 1
      of += 1
    } else if (star >= 0) {
      taken += 1
      at = taken
      of = star + 1
    } else return false
  }
  return wanted.slice(of).every((character) => character === '*')
}
