// Takes the place of Node's modules, which TVM's runtime requires but does not use in pages.
export default {};
