import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Requirement, RequirementTest } from '../requirements.ts'
import { readDocumentedRows } from '../variable-rows.ts'
import { applyMutation, type Mutation } from './read-mutations.ts'
import { runTest } from './run-test.ts'

/** Returns the tests of a requirement: those of its entry, and those in the rows of its variables. */
export const listRequirementTests = ({ tests, variables }: Requirement): RequirementTest[] => {
  const rows = readDocumentedRows().filter(({ name }) => variables.includes(name))
  const ofRows = rows.flatMap(({ test: file, title, case: first }) =>
    file === undefined || title === undefined ? [] : [{ file, name: title, case: first }],
  )
  return [...tests, ...ofRows]
}

/** The outcome of a mutation. `found` means that a test passes without the mutation and fails with it. */
export type MutationOutcome = 'found' | 'survived' | 'does not pass without the mutation' | 'does not load with it'

/** Runs the tests of a requirement with and without a mutation, in a copy of the tree. Restores the mutated file. */
export const tryMutation = async (
  tree: string,
  mutation: Mutation,
  requirement: Requirement,
): Promise<MutationOutcome> => {
  const path = join(tree, mutation.file)
  const original = await readFile(path, 'utf8')
  const mutated = applyMutation(original, mutation)
  if (mutated === undefined)
    throw new Error(`cannot apply mutation: "${mutation.before}" does not occur exactly once in "${mutation.file}"`)
  let outcome: MutationOutcome = 'survived'
  for (const test of listRequirementTests(requirement)) {
    const before = await runTest(tree, test)
    if (before.passed === 0 || before.failed > 0) return 'does not pass without the mutation'
    await writeFile(path, mutated)
    const after = await runTest(tree, test)
    await writeFile(path, original)
    if (after.failed > 0) return 'found'
    if (after.passed < before.passed) outcome = 'does not load with it'
  }
  return outcome
}
