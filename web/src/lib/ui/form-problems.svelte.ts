import { RequestFailure } from '#lib/api/failure.ts'

/** The problem of each field by its name; undefined for a valid field. */
export type FieldProblems = Readonly<Record<string, string | undefined>>

/** The problems of a form that are shown now. */
export interface FormProblems {
  of(name: string): string | undefined
  /** The message of a failure that belongs to no field; empty if there is none. */
  readonly failure: string
  /** Handles `focusout` of the form: the problem of a field is shown once the user has left it. */
  leave(event: FocusEvent): void
  /** Forgets what the service rejected, because a value has changed. */
  change(): void
  /** Shows all problems and focuses the first invalid field. Returns whether there is none. */
  submit(form: HTMLFormElement): boolean
  /** Shows why the service rejected the form, at the field that it names. */
  reject(thrown: unknown): void
}

/** Creates the validation of a form. `check` returns the problems of all fields, whose controls have these names. */
export const createFormProblems = (check: () => FieldProblems): FormProblems => {
  let left = $state.raw<ReadonlySet<string>>(new Set())
  let isSubmitted = $state(false)
  let rejected = $state.raw<{ name: string | null; message: string } | null>(null)
  const found = $derived(check())

  return {
    of: (name) => {
      const own = isSubmitted || left.has(name) ? found[name] : undefined
      return own ?? (rejected?.name === name ? rejected.message : undefined)
    },
    get failure() {
      return rejected?.name === null ? rejected.message : ''
    },
    leave: ({ target }) => {
      const name = target instanceof HTMLElement ? target.getAttribute('name') : null
      if (name !== null) left = new Set([...left, name])
    },
    change: () => (rejected = null),
    submit: (form) => {
      isSubmitted = true
      rejected = null
      const invalid = Object.keys(found).find((name) => found[name] !== undefined)
      if (invalid === undefined) return true
      form.querySelector<HTMLElement>(`[name="${CSS.escape(invalid)}"]`)?.focus()
      return false
    },
    reject: (thrown) => {
      const named = thrown instanceof RequestFailure ? thrown.details['parameter'] : undefined
      const name = typeof named === 'string' && Object.hasOwn(found, named) ? named : null
      rejected = { name, message: thrown instanceof Error ? thrown.message : String(thrown) }
    },
  }
}
