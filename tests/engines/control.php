<?php
/* Plugin Name: What the test tells WordPress to do; a must-use plugin of the test's own copy. */
add_action( 'init', function () {
	if ( '/blogsearch-test' !== strtok( $_SERVER['REQUEST_URI'], '?' ) ) {
		return;
	}
	$told = json_decode( file_get_contents( 'php://input' ), true );
	foreach ( $told['options'] ?? array() as $name => $value ) {
		update_option( $name, $value );
	}
	if ( isset( $told['theme'] ) ) {
		switch_theme( $told['theme'] );
	}
	array_map( 'wp_delete_post', $told['deleted'] ?? array(), array_fill( 0, count( $told['deleted'] ?? array() ), true ) );
	$ids = array();
	foreach ( $told['posts'] ?? array() as $post ) {
		$terms = array();
		foreach ( $post['categories'] as $name ) {
			$found   = term_exists( $name, 'category' );
			$terms[] = (int) ( $found ? $found : wp_insert_term( $name, 'category' ) )['term_id'];
		}
		$id = wp_insert_post( wp_slash( array_merge( $post, array( 'post_category' => $terms ) ) ), true );
		foreach ( $post['comments'] ?? array() as $comment ) {
			wp_insert_comment( array_merge( $comment, array( 'comment_post_ID' => $id ) ) );
		}
		$ids[] = $id;
	}
	foreach ( $told['locked'] ?? array() as $id ) {
		wp_update_post( array( 'ID' => $id, 'post_password' => 'opensesame' ) );
	}
	if ( isset( $told['export'] ) ) {
		require_once ABSPATH . 'wp-admin/includes/export.php';
		export_wp();
		exit;
	}
	header( 'Content-Type: application/json' );
	echo wp_json_encode( $ids );
	exit;
}, 99 );
