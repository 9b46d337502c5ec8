/** Letters of other scripts that look like Latin ones. Pure. */

// Cyrillic and Greek have whole words that look Latin; Unicode's table of confusables (UTS 39) has the pairs. Small ones that have
// the shape of a capital are that capital.
const CYRILLIC = ['АВЕЅІЈКМНОРСТУХҮЬԌԚԜҺӀаеѕіјорсухүһԁԛԝӏкмтвн', 'ABESIJKMHOPCTYXYbGQWhlaesijopcyxyhdqwlkmtbh'] as const
const GREEK = ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳαικνορτυχϲ', 'ABEZHIKMNOPTYXCjaikvoptuxc'] as const

const LATIN: ReadonlyMap<string, string> = new Map(
  [CYRILLIC, GREEK].flatMap(([others, latin]) => [...others].map((letter, at) => [letter, latin[at] ?? ''] as const)),
)

/**
 * A name with the Latin letters that its Cyrillic and Greek ones look like.
 * @source rules#cash-out.approval.2
 */
export function withLatinShapes(name: string): string {
  return Array.from(name, (letter) => LATIN.get(letter) ?? letter).join('')
}

/** Each has letters that look like those of another. */
const ALIKE = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Georgian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Coptic}/u,
]

/** Whether a name has letters of two scripts that look alike: no person's has. @source rules#operators.1 */
export function mixesScripts(name: string): boolean {
  const shown = name.normalize('NFKC')
  return ALIKE.filter((script) => script.test(shown)).length > 1
}
